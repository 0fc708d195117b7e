import type { Shop } from './shop.ts'

export interface GalleryPage {
  /** The name of its files. */
  name: string
  title: string
  /** The address below `/settings`. */
  path: (shop: Shop) => string
  signedOut?: true
  /** How the server handles every request except the one for the session. */
  requests?: 'waiting' | 'failed'
}

/** A page of the shop. */
function page(name: string, title: string, path: string | ((shop: Shop) => string)): GalleryPage {
  return { name, title, path: (shop) => `/${shop.accountId}/${typeof path === 'string' ? path : path(shop)}` }
}

/** The pages of the gallery, in the order of the navigation. */
export const galleryPages: readonly GalleryPage[] = [
  page('overview', 'Overview', 'overview'),
  page('public-api', 'Public API', 'public-api'),
  page('whatsapp-accounts', 'WhatsApp accounts', 'whatsapp-accounts'),
  page('set-up', 'Setup of a WhatsApp account', ({ whatsAppAccountId }) => `whatsapp-accounts/${whatsAppAccountId}`),
  page('templates', 'Templates', 'templates'),
  page('template', 'A template', 'templates?name=order_shipped&language=es'),
  page(
    'template-editor',
    'Template editor',
    ({ whatsAppAccountId }) => `templates/edit?name=order_shipped&language=en&copy=name&account=${whatsAppAccountId}`,
  ),
  page('messages', 'Messages', 'messages'),
  page('message', 'A message', ({ messageId }) => `messages?message=${messageId}`),
  page('failed-messages', 'Failed messages', 'messages?status=failed'),
  page('requests', 'API requests', 'requests'),
  page('suppressions', 'Suppressions', 'suppressions'),
  page('webhooks', 'Webhooks', 'webhooks'),
  page('webhook', 'A webhook endpoint', ({ endpointId }) => `webhooks/${endpointId}`),
  page('alerts', 'Alerts', 'alerts'),
  page('people', 'People', 'people'),
  page('audit-log', 'Audit log', 'audit-log'),
  { name: 'profile', title: 'Profile', path: () => '/profile' },
  { name: 'console', title: 'Console', path: () => '/console' },
  { name: 'new-account', title: 'A new account', path: ({ emptyAccountId }) => `/${emptyAccountId}/overview` },
  { ...page('overview-loading', 'Overview while it loads', 'overview'), requests: 'waiting' },
  { ...page('messages-loading', 'Messages while they load', 'messages'), requests: 'waiting' },
  { ...page('overview-failed', 'Overview while the server is away', 'overview'), requests: 'failed' },
  { ...page('messages-failed', 'Messages while the server is away', 'messages'), requests: 'failed' },
  { name: 'sign-in', title: 'Sign in', path: () => '/sign-in', signedOut: true },
]
