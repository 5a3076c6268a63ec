export { type DescribedAnswers, describedAnswer, oauthRefusals, problemRefusals } from './answers.ts';
export {
  type Operation,
  openApiDocument,
  type PathItem,
  schemaReference,
} from './document.ts';
export { oauthErrorSchema, operationOutcomeSchema, problemSchema } from './error-schemas.ts';
