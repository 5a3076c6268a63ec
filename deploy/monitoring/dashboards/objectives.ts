import { dashboard, latency, type Panel } from '../panels.ts';
import { errorRatio, objectiveSeries } from '../slos.ts';

/** The service level objectives with the remaining error budgets. */
export const objectives = dashboard({
  uid: 'clinical-launch-objectives',
  title: 'Clinical Launch: objectives',
  from: 'now-7d',
  rows: [
    {
      title: 'Thirty days',
      panels: [
        {
          title: 'Error budget that remains',
          description: 'Of thirty days. Below 0 the objective is missed',
          queries: [[`1 - ${errorRatio('30d')} / (1 - ${objectiveSeries})`, '{{slo}}']],
          unit: 'percentunit',
          isFigure: true,
          width: 24,
          thresholds: [0.25, 0],
        },
        {
          title: 'Good events',
          queries: [[`1 - ${errorRatio('30d')}`, '{{slo}}']],
          unit: 'percentunit',
        },
        {
          title: 'Objectives',
          queries: [[objectiveSeries, '{{slo}}']],
          unit: 'percentunit',
        },
      ],
    },
    {
      title: 'How fast the budget burns',
      panels: [
        ...(['1h', '6h', '1d', '3d'] as const).map(
          (window): Panel => ({
            title: `Burn rate over ${window}`,
            description: '1 uses up exactly the budget in thirty days',
            queries: [[`${errorRatio(window)} / (1 - ${objectiveSeries})`, '{{slo}}']],
            unit: 'short',
          }),
        ),
        latency(
          '{http_route=~".*/oauth2/v2.0/token|/AccessApi/RequestLaunchUrl|/secureLaunch"}',
          'http_route',
          'Latency of the launch path',
        ),
        latency('{service="ordering",http_request_method="POST"}', 'http_route', 'Latency of submitting'),
      ],
    },
    {
      title: 'Alerts',
      panels: [
        {
          title: 'Alerts that fire',
          queries: [
            [
              'count by (alertname, severity) (ALERTS{alertstate="firing"}) or vector(0)',
              '{{severity}} {{alertname}}',
            ],
          ],
          unit: 'short',
          width: 24,
        },
      ],
    },
  ],
});
