export * from './serve.ts';
export * from './test-clock.ts';
