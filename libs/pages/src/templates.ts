import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, Router } from 'express';
import nunjucks from 'nunjucks';

/** The parent of the directory `nhsuk`, which contains the templates and assets of NHS.UK frontend. */
const nhsukRoot = fileURLToPath(
  new URL('../', import.meta.resolve('nhsuk-frontend/dist/nhsuk/template.njk')),
);

/** The directory that contains `house.njk`, the page layout of all services. */
const houseViews = fileURLToPath(new URL('views', import.meta.url));

export type Pages = {
  /** Renders a template, and escapes all values of the model. @throws Error if the template is invalid */
  render(template: string, model: object): string;
  /** The hash of the inline script in the NHS.UK page template, as a CSP source expression. */
  readonly scriptHash: string;
};

type PagesOptions = {
  /** A line in the footer of every page, which can contain a telephone number for support. */
  readonly supportLine?: string | undefined;
};

const prepared = new Map<string, Pages>();

/**
 * Prepares the templates of a service: its own views, in one directory or several, the common layout, and the
 * templates of NHS.UK frontend. Templates are compiled only once, even if a process starts a service again.
 */
export function createPages(
  views: string | readonly string[],
  { supportLine = '' }: PagesOptions = {},
): Pages {
  const key = `${[views].flat().join('\n')}\n${supportLine}`;
  const pages = prepared.get(key) ?? preparePages([views].flat(), supportLine);
  prepared.set(key, pages);
  return pages;
}

function preparePages(views: readonly string[], supportLine: string): Pages {
  const environment = new nunjucks.Environment(
    new nunjucks.FileSystemLoader([...views, houseViews, nhsukRoot]),
    {
      autoescape: true,
      throwOnUndefined: false,
      trimBlocks: true,
      lstripBlocks: true,
    },
  );
  environment.addGlobal('supportLine', supportLine);
  const [, inlineScript = ''] =
    /<script>([^]*?)<\/script>/.exec(environment.renderString('{% extends "nhsuk/template.njk" %}', {})) ??
    [];
  return {
    render: (template, model) => environment.render(template, model),
    scriptHash: `'sha256-${createHash('sha256').update(inlineScript).digest('base64')}'`,
  };
}

/**
 * Reads the stylesheet of NHS.UK frontend. Removes the web font, which is on another host and licensed only
 * to NHS sites, and makes the addresses of images relative.
 */
function readStylesheet(): string {
  return readFileSync(`${nhsukRoot}nhsuk/nhsuk-frontend.min.css`, 'utf8')
    .replace(/@font-face\{[^}]*\}/g, '')
    .replaceAll('url(/assets/images/', 'url(images/');
}

const houseFiles = ['page.css', 'mark.svg'];

/**
 * Serves the common stylesheet and logo, and below `nhsuk/` the stylesheet, script and images of NHS.UK
 * frontend. If a directory is passed, also serves its files, which are the assets of a service.
 */
export function serveAssets(directory?: string): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  const options = { index: false, redirect: false, maxAge: '1d' } as const;
  const nhsuk = `${nhsukRoot}nhsuk`;
  const stylesheet = readStylesheet();
  router.get('/nhsuk/nhsuk-frontend.css', (_request, response) => {
    response.set({ 'Cache-Control': 'public, max-age=86400' }).type('css').send(stylesheet);
  });
  router.get('/nhsuk/nhsuk-frontend.js', (_request, response) => {
    response.sendFile('nhsuk-frontend.min.js', { root: nhsuk, maxAge: '1d' });
  });
  for (const name of houseFiles) {
    router.get(`/${name}`, (_request, response) => {
      response.sendFile(name, { root: import.meta.dirname });
    });
  }
  router.use('/nhsuk', express.static(`${nhsuk}/assets`, options));
  if (directory !== undefined) router.use(express.static(directory, { ...options, maxAge: 0 }));
  return router;
}
