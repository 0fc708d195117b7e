import type { ComponentType } from 'react'

type LoadPage = () => Promise<ComponentType>

/** Pages of an account by their path below `/:accountId`, each loaded on first use. */
export const accountRoutes: Readonly<Record<string, LoadPage>> = {
  overview: async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage,
  'public-api': async () => (await import('./pages/public-api/public-api-page.tsx')).PublicApiPage,
  'whatsapp-accounts': async () =>
    (await import('./pages/whatsapp-accounts/whatsapp-accounts-page.tsx')).WhatsAppAccountsPage,
  'whatsapp-accounts/connect': async () => (await import('./pages/whatsapp-accounts/connect-page.tsx')).ConnectPage,
  'whatsapp-accounts/:whatsAppAccountId': async () =>
    (await import('./pages/whatsapp-accounts/set-up-page.tsx')).SetUpPage,
  templates: async () => (await import('./pages/templates/templates-page.tsx')).TemplatesPage,
  'templates/new': async () => (await import('./pages/templates/editor/gallery-page.tsx')).GalleryPage,
  'templates/edit': async () => (await import('./pages/templates/editor/editor-page.tsx')).EditorPage,
  messages: async () => (await import('./pages/messages/messages-page.tsx')).MessagesPage,
  'messages/:messageId': async () => (await import('./pages/messages/message-page.tsx')).MessagePage,
  requests: async () => (await import('./pages/requests/requests-page.tsx')).RequestsPage,
  suppressions: async () => (await import('./pages/suppressions/suppressions-page.tsx')).SuppressionsPage,
  webhooks: async () => (await import('./pages/webhooks/webhooks-page.tsx')).WebhooksPage,
  'webhooks/:endpointId': async () => (await import('./pages/webhooks/webhook-page.tsx')).WebhookPage,
  alerts: async () => (await import('./pages/alerts/alerts-page.tsx')).AlertsPage,
  people: async () => (await import('./pages/people/people-page.tsx')).PeoplePage,
  'audit-log': async () => (await import('./pages/audit-log-page.tsx')).AuditLogPage,
}

/** Pages of the signed-in user. */
export const userRoutes: Readonly<Record<string, LoadPage>> = {
  profile: async () => (await import('./pages/profile/profile-page.tsx')).ProfilePage,
  console: async () => (await import('./pages/console/console-page.tsx')).ConsolePage,
}

/** Pages that need no session. */
export const publicRoutes: Readonly<Record<string, LoadPage>> = {
  'sign-in': async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage,
  'forgot-password': async () => (await import('./pages/sign-in/forgot-password-page.tsx')).ForgotPasswordPage,
  'reset-password/:token': async () => (await import('./pages/sign-in/reset-password-page.tsx')).ResetPasswordPage,
  'invitation/:token': async () => (await import('./pages/invitation-page.tsx')).InvitationPage,
}

/** Returns the lazy-loaded page of a path, if there is one. */
export function findPage(pathname: string): LoadPage | undefined {
  const [, , ...segments] = pathname.split('/')
  return find({ ...publicRoutes, ...userRoutes }, segments) ?? find(accountRoutes, segments.slice(1))
}

function find(pages: Readonly<Record<string, LoadPage>>, segments: readonly string[]): LoadPage | undefined {
  return Object.entries(pages).find(([path]) => {
    const pattern = path.split('/')
    return (
      pattern.length === segments.length &&
      pattern.every((expected, index) => expected.startsWith(':') || expected === segments[index])
    )
  })?.[1]
}
