import { launches } from './dashboards/launches.ts';
import { objectives } from './dashboards/objectives.ts';
import { parts } from './dashboards/parts.ts';
import { services } from './dashboards/services.ts';
import type { Dashboard } from './panels.ts';

/** Every dashboard, by the name of its file. */
export const dashboards: readonly Dashboard[] = [launches, services, parts, objectives];
