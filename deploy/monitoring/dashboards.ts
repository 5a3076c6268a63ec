import { type Dashboard, dashboard, type Panel, type Query } from './panels.ts';
import { errorRatio, objectiveSeries } from './slos.ts';

const rate = (series: string) => `rate(${series}[$__rate_interval])`;
const requests = 'http_server_request_duration_seconds';

/** The middle request, and the slower ones of a hundred, with exemplars that link to traces. */
function latency(selector: string, by: string, title = 'Latency'): Panel {
  const quantile = (share: number): Query => [
    `histogram_quantile(${share}, sum by (${by}, le) (${rate(`${requests}_bucket${selector}`)}))`,
    `{{${by}}} p${share * 100}`,
  ];
  return {
    title,
    description: 'Each dot is a request: it leads to its trace',
    queries: [quantile(0.5), quantile(0.99)],
    unit: 's',
    hasExemplars: true,
  };
}

const launches = dashboard({
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

const ofService = '{service=~"$service"}';
const onProcess = { unit: 'bytes' } as const;

const services = dashboard({
  uid: 'clinical-launch-services',
  title: 'Clinical Launch: services',
  variables: [{ name: 'service', label: 'Service', query: 'label_values(up{job="services"}, service)' }],
  rows: [
    {
      title: 'Requests, errors, duration',
      panels: [
        {
          title: 'Requests',
          queries: [[`sum by (service) (${rate(`${requests}_count${ofService}`)})`, '{{service}}']],
          unit: 'reqps',
        },
        {
          title: 'Answers by status',
          queries: [
            [
              `sum by (service, http_response_status_code) (${rate(`${requests}_count${ofService}`)})`,
              '{{service}} {{http_response_status_code}}',
            ],
          ],
          unit: 'reqps',
        },
        latency(ofService, 'service'),
        latency(ofService, 'http_route', 'Latency by route'),
        {
          title: 'Replicas that answer',
          queries: [['sum by (service) (up{job="services",service=~"$service"})', '{{service}}']],
          unit: 'short',
        },
        {
          title: 'Signing keys fetched from issuers',
          queries: [
            [
              `sum by (clinical_launch_issuer, clinical_launch_outcome) (${rate(`clinical_launch_issuer_keys_fetches_total${ofService}`)})`,
              '{{clinical_launch_issuer}} {{clinical_launch_outcome}}',
            ],
          ],
          unit: 'reqps',
        },
        {
          title: 'Refusals beyond the limit of an address',
          queries: [
            [
              `sum by (service) (${rate(`clinical_launch_refusals_limited_total${ofService}`)})`,
              '429: {{service}}',
            ],
            [
              `sum by (service) (${rate(`clinical_launch_refusals_dropped_total${ofService}`)})`,
              'events dropped: {{service}}',
            ],
          ],
          unit: 'reqps',
        },
      ],
    },
    {
      title: 'Processes',
      panels: [
        {
          title: 'Delay of the event loop',
          queries: [
            [`max by (service) (nodejs_eventloop_delay_p50_seconds${ofService})`, '{{service}} p50'],
            [`max by (service) (nodejs_eventloop_delay_p99_seconds${ofService})`, '{{service}} p99'],
          ],
          unit: 's',
        },
        {
          title: 'Event loop in use',
          queries: [[`max by (service) (nodejs_eventloop_utilization_ratio${ofService})`, '{{service}}']],
          unit: 'percentunit',
        },
        {
          title: 'Processor',
          description: 'Cores in use, by replica',
          queries: [
            [
              `sum by (service, instance) (${rate(`process_cpu_time_seconds_total${ofService}`)})`,
              '{{service}} {{instance}}',
            ],
          ],
          unit: 'short',
        },
        {
          title: 'Memory',
          queries: [
            [
              `max by (service, instance) (process_memory_usage_bytes${ofService})`,
              '{{service}} {{instance}}',
            ],
          ],
          ...onProcess,
        },
        {
          title: 'Heap in use',
          queries: [
            [
              `sum by (service, instance) (v8js_memory_heap_used_bytes${ofService})`,
              '{{service}} {{instance}}',
            ],
          ],
          ...onProcess,
        },
        {
          title: 'Time in garbage collection',
          description: 'The share of time, by kind',
          queries: [
            [
              `sum by (service, v8js_gc_type) (${rate(`v8js_gc_duration_seconds_sum${ofService}`)})`,
              '{{service}} {{v8js_gc_type}}',
            ],
          ],
          unit: 'percentunit',
        },
        {
          title: 'Connections to the database',
          queries: [
            [
              `sum by (service, db_client_connection_state) (db_client_connection_count${ofService})`,
              '{{service}} {{db_client_connection_state}}',
            ],
            [`sum by (service) (db_client_connection_pending_requests${ofService})`, '{{service}} waiting'],
          ],
          unit: 'short',
        },
        {
          title: 'Uptime',
          queries: [
            [`min by (service, instance) (process_uptime_seconds${ofService})`, '{{service}} {{instance}}'],
          ],
          unit: 's',
        },
      ],
    },
  ],
});

const parts = dashboard({
  uid: 'clinical-launch-parts',
  title: 'Clinical Launch: parts',
  rows: [
    {
      title: 'Redis',
      panels: [
        {
          title: 'Memory',
          queries: [
            ['max by (server_address) (redis_memory_used_bytes)', '{{server_address}}'],
            ['max by (server_address) (redis_maxmemory_bytes)', '{{server_address}} limit'],
          ],
          unit: 'bytes',
        },
        {
          title: 'Commands',
          queries: [
            [`max by (server_address) (${rate('redis_commands_processed_total')})`, '{{server_address}}'],
          ],
          unit: 'reqps',
        },
        {
          title: 'Keys',
          queries: [['max by (server_address) (redis_db_keys)', '{{server_address}}']],
          unit: 'short',
        },
        {
          title: 'Connections',
          queries: [['max by (server_address) (redis_clients_connected)', '{{server_address}}']],
          unit: 'short',
        },
      ],
    },
    {
      title: 'RabbitMQ',
      panels: [
        {
          title: 'Events in queues',
          queries: [['sum by (queue) (rabbitmq_detailed_queue_messages)', '{{queue}}']],
          unit: 'short',
        },
        {
          title: 'Published and delivered',
          queries: [
            [`sum(${rate('rabbitmq_global_messages_received_total')})`, 'published'],
            [`sum(${rate('rabbitmq_global_messages_delivered_total')})`, 'delivered'],
          ],
          unit: 'reqps',
        },
        {
          title: 'Memory',
          description: 'At the limit it takes no more events; outboxes wait',
          queries: [
            ['max by (instance) (rabbitmq_process_resident_memory_bytes)', 'in use'],
            ['max by (instance) (rabbitmq_resident_memory_limit_bytes)', 'limit'],
          ],
          unit: 'bytes',
        },
        {
          title: 'Free disk',
          queries: [
            ['min by (instance) (rabbitmq_disk_space_available_bytes)', 'free'],
            ['max by (instance) (rabbitmq_disk_space_available_limit_bytes)', 'limit'],
          ],
          unit: 'bytes',
        },
        {
          title: 'Connections',
          queries: [
            ['sum(rabbitmq_connections)', 'connections'],
            ['sum(rabbitmq_channels)', 'channels'],
          ],
          unit: 'short',
        },
      ],
    },
    {
      title: 'PostgreSQL',
      panels: [
        {
          title: 'Connections',
          queries: [
            ['max(postgresql_backends)', 'in use'],
            ['max(postgresql_connection_max)', 'limit'],
          ],
          unit: 'short',
        },
        {
          title: 'Size of the database',
          description: 'The limit is the volume of deploy/prometheus/rules.yml',
          queries: [
            ['max(postgresql_db_size_bytes)', 'database'],
            ['clinical_launch:postgresql_volume:bytes', 'volume'],
          ],
          unit: 'bytes',
        },
        {
          title: 'Requests that wait for a connection',
          queries: [['sum by (service) (db_client_connection_pending_requests)', '{{service}}']],
          unit: 'short',
        },
        {
          title: 'Share of each pool in use',
          queries: [
            [
              'sum by (service) (db_client_connection_count{db_client_connection_state="used"}) / sum by (service) (db_client_connection_max)',
              '{{service}}',
            ],
          ],
          unit: 'percentunit',
        },
      ],
    },
    {
      title: 'Edge',
      panels: [
        {
          title: 'Answers by class',
          queries: [
            [`sum by (code) (${rate('haproxy_frontend_http_responses_total{proxy="edge"}')})`, '{{code}}'],
          ],
          unit: 'reqps',
        },
        {
          title: 'Sent to another replica, or broken',
          queries: [
            [`sum by (proxy) (${rate('haproxy_backend_redispatch_warnings_total')})`, 'again: {{proxy}}'],
            [`sum by (proxy) (${rate('haproxy_backend_response_errors_total')})`, 'broken: {{proxy}}'],
          ],
          unit: 'reqps',
        },
      ],
    },
    {
      title: 'What expires',
      panels: [
        {
          title: 'Credentials and signing keys',
          description:
            'Seconds until the last secret of a client expires, or until a signing key is replaced',
          queries: [
            [
              'min by (clinical_launch_credential_kind, clinical_launch_credential_owner) (clinical_launch_credential_expiry_seconds) - time()',
              '{{clinical_launch_credential_kind}} {{clinical_launch_credential_owner}}',
            ],
          ],
          unit: 's',
        },
        {
          title: 'Certificates',
          queries: [
            [
              'min by (clinical_launch_certificate_name) (clinical_launch_certificate_expiry_seconds) - time()',
              '{{clinical_launch_certificate_name}}',
            ],
          ],
          unit: 's',
        },
      ],
    },
  ],
});

const objectives = dashboard({
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

/** Every dashboard, by the name of its file. */
export const dashboards: readonly Dashboard[] = [launches, services, parts, objectives];
