/**
 * `npm run docs`: writes the documents that are generated from code or from other documents. A test fails if
 * one of them is outdated.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { asyncApiFile, asyncApiText } from './asyncapi.ts';
import { commandsFile, commandsText } from './commands.ts';
import { developerPages, pagesFolder } from './developer-pages.ts';
import { errorsFile, errorsText } from './errors.ts';
import { eventsFile, eventsText } from './events.ts';
import { prometheusRuleFile, prometheusRuleText } from './prometheus-rule.ts';
import { settingsFile, settingsText } from './settings.ts';

export const generatedDocuments = [
  { file: asyncApiFile, text: asyncApiText },
  { file: commandsFile, text: commandsText },
  { file: errorsFile, text: errorsText },
  { file: eventsFile, text: eventsText },
  { file: prometheusRuleFile, text: prometheusRuleText },
  { file: settingsFile, text: settingsText },
] as const;

if (import.meta.main) {
  for (const { file, text } of generatedDocuments) writeFileSync(file, await text());
  // The pages contain some of the documents above, so they are written last.
  const pages = await developerPages();
  rmSync(pagesFolder, { recursive: true, force: true });
  for (const { file, text } of pages) {
    mkdirSync(new URL('.', file), { recursive: true });
    writeFileSync(file, text);
  }
}
