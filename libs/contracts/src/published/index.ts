export * from './example-launch.ts';
export * from './example-service-request.ts';
export * from './schema.ts';
export * from './service-request.ts';
