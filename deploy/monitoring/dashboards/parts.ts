import { dashboard, rate } from '../panels.ts';

/** Redis, RabbitMQ, PostgreSQL, the edge, and what expires. */
export const parts = dashboard({
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
