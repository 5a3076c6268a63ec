import { dashboard, type Query, rate, requests } from '../panels.ts';

/** The funnel of launches: issued, redeemed, refused, ordered, delivered. */
export const launches = dashboard({
  uid: 'clinical-launch',
  title: 'Clinical Launch: launches',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Launches a minute',
          description: 'Launch URLs issued, and launches opened with one',
          queries: [
            [`60 * sum(${rate('clinical_launch_launches_issued_total')})`, 'issued'],
            [`60 * sum(${rate('clinical_launch_launches_redeemed_total')})`, 'opened'],
          ],
          unit: 'short',
          isFigure: true,
        },
        {
          title: 'Requests that fail',
          queries: [
            [
              `(sum(${rate(`${requests}_count{http_response_status_code=~"5.."}`)}) or vector(0)) / sum(${rate(`${requests}_count`)})`,
              '5xx',
            ],
          ],
          unit: 'percentunit',
          isFigure: true,
          thresholds: [0.001, 0.01],
        },
        {
          title: 'Oldest event in an outbox',
          queries: [['max(clinical_launch_outbox_oldest_age_seconds)', 'age']],
          unit: 's',
          isFigure: true,
          thresholds: [10, 60],
        },
        {
          title: 'Dead letters',
          queries: [['sum(rabbitmq_detailed_queue_messages{queue=~".+[.]dead-letters"})', 'events']],
          unit: 'short',
          isFigure: true,
          thresholds: [1, 100],
        },
      ],
    },
    {
      title: 'The funnel',
      panels: [
        {
          title: 'From token to order',
          description: 'Requests a second at each step',
          queries: [
            [
              `sum(${rate(`${requests}_count{http_route=~".*/oauth2/v2.0/token",http_response_status_code="200"}`)})`,
              'token',
            ],
            [`sum(${rate('clinical_launch_launches_issued_total')})`, 'launch URL issued'],
            [`sum(${rate('clinical_launch_launches_redeemed_total')})`, 'launch opened'],
            [
              `sum(${rate(`${requests}_count{http_request_method="POST",http_route="/oltr/:launchId/review"}`)})`,
              'order submitted',
            ],
            [
              `sum(${rate('clinical_launch_delivery_attempts_total{clinical_launch_outcome="delivered"}')})`,
              'document delivered',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Launch URLs that were never opened',
          description: 'The share of the last hour. A launch URL lives ten seconds',
          queries: [
            [
              '1 - sum(increase(clinical_launch_launches_redeemed_total[1h])) / sum(increase(clinical_launch_launches_issued_total[1h]))',
              'not opened',
            ],
          ],
          unit: 'percentunit',
        },
        {
          title: 'Seconds from issue to launch',
          queries: [0.5, 0.9, 0.99].map(
            (share): Query => [
              `histogram_quantile(${share}, sum by (le) (${rate('clinical_launch_launch_wait_seconds_bucket')}))`,
              `p${share * 100}`,
            ],
          ),
          unit: 's',
        },
        {
          title: 'Refused launches by reason',
          queries: [
            [
              `sum by (clinical_launch_refusal_step, clinical_launch_refusal_reason) (${rate('clinical_launch_launches_refused_total')})`,
              '{{clinical_launch_refusal_step}}: {{clinical_launch_refusal_reason}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Issued by client',
          queries: [
            [
              `sum by (clinical_launch_client_id) (${rate('clinical_launch_launches_issued_total')})`,
              '{{clinical_launch_client_id}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Refused by client',
          queries: [
            [
              `sum by (clinical_launch_client_id) (${rate('clinical_launch_launches_refused_total')})`,
              '{{clinical_launch_client_id}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Tickets issued by kind',
          queries: [
            [
              `sum by (clinical_launch_ticket_kind) (${rate('clinical_launch_tickets_issued_total')})`,
              '{{clinical_launch_ticket_kind}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Tickets presented by outcome',
          queries: [
            [
              `sum by (clinical_launch_ticket_kind, clinical_launch_ticket_outcome) (${rate('clinical_launch_tickets_redeemed_total')})`,
              '{{clinical_launch_ticket_kind}}: {{clinical_launch_ticket_outcome}}',
            ],
          ],
          unit: 'reqps',
        },
      ],
    },
    {
      title: 'What follows a launch',
      panels: [
        {
          title: 'Outbox depth',
          queries: [
            [
              'max by (clinical_launch_outbox_name) (clinical_launch_outbox_depth)',
              '{{clinical_launch_outbox_name}}',
            ],
          ],
          unit: 'short',
        },
        {
          title: 'Outbox age',
          queries: [
            [
              'max by (clinical_launch_outbox_name) (clinical_launch_outbox_oldest_age_seconds)',
              '{{clinical_launch_outbox_name}}',
            ],
          ],
          unit: 's',
        },
        {
          title: 'Seconds until an event is audited',
          queries: [0.5, 0.99].map(
            (share): Query => [
              `histogram_quantile(${share}, sum by (le) (${rate('clinical_launch_audit_lag_seconds_bucket')}))`,
              `p${share * 100}`,
            ],
          ),
          unit: 's',
        },
        {
          title: 'Seconds until a document is delivered',
          queries: [0.5, 0.99].map(
            (share): Query => [
              `histogram_quantile(${share}, sum by (le) (${rate('clinical_launch_delivery_duration_seconds_bucket')}))`,
              `p${share * 100}`,
            ],
          ),
          unit: 's',
        },
        {
          title: 'Attempts to deliver by outcome',
          queries: [
            [
              `sum by (clinical_launch_outcome) (${rate('clinical_launch_delivery_attempts_total')})`,
              '{{clinical_launch_outcome}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Deliveries that wait, and dead ones',
          queries: [
            ['max(clinical_launch_delivery_pending)', 'pending'],
            ['max(clinical_launch_delivery_dead)', 'dead'],
          ],
          unit: 'short',
        },
        {
          title: 'Events that nobody proved, or that no bus takes',
          queries: [
            [
              'sum by (clinical_launch_consumer_name) (increase(clinical_launch_events_refused_total[$__rate_interval]))',
              'not proven: {{clinical_launch_consumer_name}}',
            ],
            [
              'sum by (clinical_launch_outbox_name) (increase(clinical_launch_outbox_rejected_total[$__rate_interval]))',
              'set aside: {{clinical_launch_outbox_name}}',
            ],
          ],
          unit: 'short',
        },
      ],
    },
  ],
});
