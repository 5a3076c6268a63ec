export * from './access-token.ts';
export * from './callback.ts';
export * from './pkce.ts';
export * from './pms-client.ts';
export * from './service-request.ts';
