import { it } from '@jest/globals';
import { expectPageInBrowser } from '../edge/own-page.ts';
import { startWafOfFailingEdge } from './failing-edge.ts';

it('the firewall shows accessible pages in a browser when it refuses and when the edge fails', async () => {
  const waf = await startWafOfFailingEdge();
  try {
    await expectPageInBrowser(`${waf.url}/?q=<script>alert(1)</script>`, 'Your request was not accepted');
    await expectPageInBrowser(`${waf.url}/oltr/`, 'This page is not available now');
  } finally {
    await waf.stop();
  }
});
