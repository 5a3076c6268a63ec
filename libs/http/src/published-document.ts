import { sendText } from './answer.ts';
import type { Handler } from './endpoint.ts';

type PublishedDocument = {
  /** The media type without charset. */
  readonly contentType: string;
  /** Creates the text. Is called at the first request, so that the process starts faster. */
  readonly make: () => Promise<string>;
};

/** Creates the handler of a document that is created only once, because it is the same for every caller. */
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
