/** The paths of the launch API, as callers write them. */
export const addresses = {
  requestLaunchUrl: '/AccessApi/RequestLaunchUrl',
  validate: '/AccessApi/Validate',
  document: '/AccessApi/openapi.json',
  payloadSchema: '/AccessApi/schemas/service-request.json',
  orderSchema: '/AccessApi/schemas/order.xsd',
} as const;
