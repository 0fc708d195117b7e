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
      {
        path: 'overview',
        label: msg`Overview`,
        icon: IconChartBar,
        keywords: msg`costs of a message prices billing invoice statistics figures time zone`,
      },
      { path: 'messages', label: msg`Messages`, icon: IconMessages, keywords: msg`export csv log history` },
      { path: 'templates', label: msg`Templates`, icon: IconTemplate, keywords: msg`test preview texts` },
      {
        path: 'suppressions',
        label: msg`Suppressions`,
        icon: IconUserOff,
        keywords: msg`block unsubscribe opt out stop cancel blocklist`,
      },
    ],
  },
  {
    // Instructions of integrators say where the key is: "Settings > Public API".
    label: msg`Settings`,
    pages: [
      { path: 'public-api', label: msg`Public API`, icon: IconKey, keywords: msg`key token allow-list rate limit mcp` },
      {
        path: 'whatsapp-accounts',
        label: msg`WhatsApp accounts`,
        icon: IconBrandWhatsapp,
        keywords: msg`phone numbers health setup`,
      },
      { path: 'webhooks', label: msg`Webhooks`, icon: IconWebhook, keywords: msg`endpoints events callbacks` },
      { path: 'alerts', label: msg`Alerts`, icon: IconBell, keywords: msg`notifications email slack teams` },
      { path: 'people', label: msg`People`, icon: IconUsers, keywords: msg`invite members users colleagues team` },
    ],
  },
  {
    label: msg`Logs`,
    pages: [
      { path: 'requests', label: msg`API requests`, icon: IconArrowsExchange, keywords: msg`errors log debug` },
      { path: 'audit-log', label: msg`Audit log`, icon: IconHistory, keywords: msg`changes history` },
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
