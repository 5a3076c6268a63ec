import { it } from '@jest/globals';
import { startWafOfFailingEdge } from '../waf/failing-edge.ts';
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

it('the firewall shows accessible pages in a browser when it refuses and when the edge fails', async () => {
  const waf = await startWafOfFailingEdge();
  try {
    await expectPageInBrowser(`${waf.url}/?q=<script>alert(1)</script>`, 'Your request was not accepted');
    await expectPageInBrowser(`${waf.url}/oltr/`, 'This page is not available now');
  } finally {
    await waf.stop();
  }
});
