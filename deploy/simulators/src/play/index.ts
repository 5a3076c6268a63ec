export { Browser, type Page, plainText } from './browser.ts';
export { playDesktopLaunch } from './desktop-launch.ts';
export { playOltrLaunch } from './oltr-launch.ts';
