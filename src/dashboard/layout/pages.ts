import { msg } from '@lingui/core/macro'
import {
  IconArrowsExchange,
  IconBell,
  IconBook2,
  IconBrandWhatsapp,
  IconChartBar,
  IconCode,
  IconHistory,
  IconKey,
  IconMessages,
  IconSpeakerphone,
  IconTemplate,
  IconUserOff,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react'

/** The pages of an account by group, in navigation order. */
export const pageGroups = [
  {
    label: msg`Messaging`,
    pages: [
      { path: 'overview', label: msg`Overview`, icon: IconChartBar },
      { path: 'messages', label: msg`Messages`, icon: IconMessages },
      { path: 'templates', label: msg`Templates`, icon: IconTemplate },
      { path: 'suppressions', label: msg`Suppressions`, icon: IconUserOff },
    ],
  },
  {
    // The specification tells integrators to find their key under "Settings > Public API".
    label: msg`Settings`,
    pages: [
      { path: 'public-api', label: msg`Public API`, icon: IconKey },
      { path: 'whatsapp-accounts', label: msg`WhatsApp accounts`, icon: IconBrandWhatsapp },
      { path: 'webhooks', label: msg`Webhooks`, icon: IconWebhook },
      { path: 'alerts', label: msg`Alerts`, icon: IconBell },
      { path: 'people', label: msg`People`, icon: IconUsers },
    ],
  },
  {
    label: msg`Logs`,
    pages: [
      { path: 'requests', label: msg`API requests`, icon: IconArrowsExchange },
      { path: 'audit-log', label: msg`Audit log`, icon: IconHistory },
    ],
  },
]

/** Pages of the documentation, outside of the dashboard. */
export const helpPages = [
  { path: '/docs', label: msg`Documentation`, icon: IconBook2 },
  { path: '/docs/api', label: msg`API reference`, icon: IconCode },
  { path: '/docs/changelog', label: msg`Changelog`, icon: IconSpeakerphone },
]

export const accountPages = pageGroups.flatMap(({ pages }) => pages)
