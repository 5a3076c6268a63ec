export { Browser, type Page, plainText } from './browser.ts';
export { playDesktopLaunch } from './desktop-launch.ts';
export { anOrder, playOltrLaunch } from './oltr-launch.ts';
