/** A page that `Browser` opened. Its HTML contains the links and forms to follow. */
export type Page = { readonly url: string; readonly status: number; readonly html: string };

/**
 * A minimal browser without JavaScript, to play the demo on a machine without a browser. Supports cookies by
 * path, redirects and forms.
 */
export class Browser {
  readonly #cookies: { path: string; pair: string }[] = [];
  readonly #reach: (address: string) => string;
  readonly #fetch: typeof fetch;

  /** @param reach returns the address to call for an address in a page */
  constructor(reach: (address: string) => string = (address) => address, send: typeof fetch = fetch) {
    this.#reach = reach;
    this.#fetch = send;
  }

  /** Opens an address, or posts a form to it. Follows redirects, and pages that refresh immediately. */
  async open(address: string, form?: URLSearchParams): Promise<Page> {
    const url = new URL(address);
    const response = await this.#fetch(this.#reach(url.href), {
      redirect: 'manual',
      headers: { Cookie: this.#cookiesFor(url.pathname) },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    this.#storeCookies(response);
    const html = await response.text();
    const next =
      response.headers.get('location') ?? /http-equiv="refresh" content="0; url=([^"]+)"/.exec(html)?.[1];
    if (next !== undefined) return this.open(new URL(next, url).href);
    return { url: url.href, status: response.status, html };
  }

  #cookiesFor(pathname: string): string {
    return this.#cookies
      .filter(({ path }) => pathname === path || pathname.startsWith(path.endsWith('/') ? path : `${path}/`))
      .map(({ pair }) => pair)
      .join('; ');
  }

  #storeCookies(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';', 1);
      this.#cookies.unshift({ pair, path: /; ?path=([^;]+)/i.exec(cookie)?.[1] ?? '/' });
    }
  }
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Returns text with the character references of HTML resolved. */
export function plainText(markup: string): string {
  return markup.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot));/gi,
    (_match, decimal, hexadecimal, name) => {
      if (name !== undefined) return characters[String(name).toLowerCase()] ?? '';
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal));
    },
  );
}
