export { type Dialect, dialectOf, readDialect } from './dialect.ts';
export { launchBody } from './host/desktop-launch.ts';
export { getPatient } from './records.ts';
export { simulators } from './simulators.ts';
