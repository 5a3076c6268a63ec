import { sendText } from './answer.ts';
import type { Handler } from './endpoint.ts';

type PublishedDocument = {
  /** The media type without charset. */
  readonly contentType: string;
  /** Creates the text. Is called at the first request, so that the process starts faster. */
  readonly make: () => Promise<string>;
};

/** Creates the handler of a document that is the same for every caller, so that it is created only once. */
export function publishDocument({ contentType, make }: PublishedDocument): Handler {
  let making: Promise<Buffer> | undefined;
  const prepare = async () => Buffer.from(await make());
  return async ({ response }) => {
    making ??= prepare().catch((error: unknown) => {
      making = undefined;
      throw error;
    });
    const bytes = await making;
    response.setHeader('Cache-Control', 'public, max-age=300');
    sendText(response, contentType, bytes);
  };
}
