/** Returns a request that sends a form. */
export const formOf = (fields: Readonly<Record<string, string>>) => ({
  method: 'POST',
  body: new URLSearchParams(fields),
});

/** Returns the faults that a page shows below the lines of a payload. */
export const faultsIn = (page: string) =>
  [...page.matchAll(/<li class="app-lines__faulty" id="line-(\d+)"[^]*?<\/li>/g)].flatMap(([item, line]) =>
    [...item.matchAll(/<p class="app-lines__fault">([^]*?)<\/p>/g)].map(([, html = '']) => ({
      line: Number(line),
      text: html
        .replace(/<[^>]+>/g, '')
        .replaceAll('&#39;', "'")
        .replaceAll('&quot;', '"'),
      code: /<code>([\w-]+)<\/code>/.exec(html)?.[1],
    })),
  );

/** Decodes the character references of a page. */
export const textOf = (html: string) =>
  html
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
