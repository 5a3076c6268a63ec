import { isUp, startRabbitMq } from './rabbitmq.ts';
import { findProgram, type ServerKind } from './server-kind.ts';

export const rabbitMq: ServerKind = {
  name: 'RabbitMQ',
  variable: 'AMQP_URL',
  debianPackage: 'rabbitmq-server',
  findProgram: () => findProgram('rabbitmq-server'),
  runProgram: () => startRabbitMq(),
  container: {
    image: 'rabbitmq:4-management-alpine',
    port: 5672,
    url: (address) => `amqp://guest:guest@${address}`,
    isUp,
  },
};
