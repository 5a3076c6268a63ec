/** What this service's events name as their source. */
export const eventSource = '/identity-provider';
