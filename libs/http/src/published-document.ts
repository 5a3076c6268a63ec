import type { Exchange, Handler } from './exchange.ts';

type PublishedDocument = {
  readonly contentType: string;
  /** Creates the text; called at the first request, to keep the start fast. */
  readonly make: () => Promise<string>;
};

/** Serves a document that is the same for every caller: created once, then sent as the same bytes. */
export function publishDocument({
  contentType,
  make,
}: PublishedDocument): Handler<Pick<Exchange, 'response'>> {
  let making: Promise<Buffer> | undefined;
  const prepare = async () => Buffer.from(await make());
  return async ({ response }) => {
    making ??= prepare().catch((error: unknown) => {
      making = undefined;
      throw error;
    });
    const bytes = await making;
    response.set({ 'Cache-Control': 'public, max-age=300', 'Content-Type': contentType }).send(bytes);
  };
}
