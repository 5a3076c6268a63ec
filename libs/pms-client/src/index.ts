export {
  createTokenCache,
  type TokenCache,
  TokenRefused,
  type TokenRequest,
} from './access-token.ts';
export {
  type CallbackFault,
  type CallbackHeaders,
  CallbackRefused,
  type CallbackToVerify,
  type OrderDocumentCallback,
  verifyCallback,
} from './callback.ts';
export * from './launch-request.ts';
export { defaultNamespaces, type Namespaces } from './namespaces.ts';
export { createPkcePair, type PkcePair } from './pkce.ts';
export {
  createPmsClient,
  type Launch,
  type LaunchFault,
  type LaunchRefusal,
  LaunchRefused,
  type PmsClient,
  type PmsClientOptions,
} from './pms-client.ts';
export { buildServiceRequest, type ServiceRequest } from './service-request.ts';
