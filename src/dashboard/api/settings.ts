import { createTRPCClient, httpLink } from '@trpc/client'
import type { SettingsRouter } from './settings-router.ts'

/** Every procedure of the dashboard, such as `settings.publicApi.get.query({ accountId })`. */
export const { settings } = createTRPCClient<SettingsRouter>({ links: [httpLink({ url: '/settings/trpc' })] })
