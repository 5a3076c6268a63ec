import { it } from '@jest/globals';
import { startEdgeOfFailingService } from './failing-service.ts';
import { expectPageInBrowser } from './own-page.ts';

it('the edge shows an accessible page in a browser when the service fails', async () => {
  const edge = await startEdgeOfFailingService();
  try {
    await expectPageInBrowser(`${edge.url}/oltr/closes`, 'This page is not available now');
  } finally {
    await edge.stop();
  }
});
