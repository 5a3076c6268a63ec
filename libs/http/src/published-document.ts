import { sendText } from './answer.ts';
import type { Handler } from './endpoint.ts';

type PublishedDocument = {
  /** Without its charset. */
  readonly contentType: string;
  /** Creates the text; called at the first request, to keep the start fast. */
  readonly make: () => Promise<string>;
};

/** Serves a document that is the same for every caller: created once, then sent as the same bytes. */
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
