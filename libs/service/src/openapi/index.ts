export * from './answers.ts';
export * from './document.ts';
export * from './error-schemas.ts';
