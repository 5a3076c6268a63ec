export { type Dialect, dialectOf, readDialect } from './dialect.ts';
export { launchBody } from './host/desktop-launch.ts';
export { getPatient, type Patient } from './records.ts';
export { simulators } from './simulators.ts';
