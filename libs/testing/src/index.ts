export * from './chromium.ts';
export * from './arbitrary-service-request.ts';
export * from './json-edit.ts';
export * from './serve.ts';
export * from './service-request.ts';
export * from './test-clock.ts';
export * from './token-issuer.ts';
export * from './xml.ts';
