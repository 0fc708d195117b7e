import {
  IconArrowsExchange,
  IconBell,
  IconBrandWhatsapp,
  IconChartBar,
  IconHistory,
  IconKey,
  IconMessages,
  IconTemplate,
  IconUserOff,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'

/** The pages of an account, in the order of the navigation. */
export const accountPages = [
  { path: 'overview', label: 'Overview', icon: IconChartBar },
  { path: 'public-api', label: 'Public API', icon: IconKey },
  { path: 'whatsapp-accounts', label: 'WhatsApp accounts', icon: IconBrandWhatsapp },
  { path: 'templates', label: 'Templates', icon: IconTemplate },
  { path: 'messages', label: 'Messages', icon: IconMessages },
  { path: 'requests', label: 'API requests', icon: IconArrowsExchange },
  { path: 'suppressions', label: 'Suppressions', icon: IconUserOff },
  { path: 'webhooks', label: 'Webhooks', icon: IconWebhook },
  { path: 'alerts', label: 'Alerts', icon: IconBell },
  { path: 'people', label: 'People', icon: IconUsers },
  { path: 'audit-log', label: 'Audit log', icon: IconHistory },
]
