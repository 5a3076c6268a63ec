import { dashboard, latency, rate, requests } from '../panels.ts';

const ofService = '{service=~"$service"}';
const onProcess = { unit: 'bytes' } as const;

/** Each service: requests, errors and latency (RED), and its process. */
export const services = dashboard({
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
