import {
  createRouter,
  errorEdge,
  onlyMethods,
  problemDialect,
  type Service,
} from '@clinical-launch/service/http';
import type { Tickets } from '@clinical-launch/tickets';
import type { LaunchGatewayConfig } from './config.ts';
import { auditRefusal, secureLaunch } from './http/secure-launch.ts';

export type LaunchGatewayBacking = { readonly tickets: Tickets };

/** The launch gateway: turns a launch token into a launch session, once. Answers at `/secureLaunch`. */
export function launchGateway(config: LaunchGatewayConfig, { tickets }: LaunchGatewayBacking): Service {
  const router = createRouter();
  const launch = secureLaunch(config, tickets);
  const path = '/secureLaunch';
  const onError = errorEdge({ dialect: problemDialect(config), audit: auditRefusal });
  router.route(path).get(launch).post(launch).all(onlyMethods('GET', 'POST'));
  router.use(onError);
  return { name: 'launch-gateway', router, direct: [{ method: 'GET', path, handler: launch, onError }] };
}
