import type { RouteObject } from 'react-router'
import { AccountLayout, FirstAccountPage } from './layout/account-layout.tsx'
import { NotFoundPage, RouteError, WholePageSkeleton } from './layout/fallback-pages.tsx'
import { SignedInLayout } from './layout/signed-in-layout.tsx'

/** Pages of an account are loaded on first use. */
const accountPages: RouteObject[] = [
  {
    path: 'overview',
    lazy: { Component: async () => (await import('./pages/overview/overview-page.tsx')).OverviewPage },
  },
  {
    path: 'public-api',
    lazy: { Component: async () => (await import('./pages/public-api/public-api-page.tsx')).PublicApiPage },
  },
  {
    path: 'whatsapp-accounts',
    lazy: {
      Component: async () =>
        (await import('./pages/whatsapp-accounts/whatsapp-accounts-page.tsx')).WhatsAppAccountsPage,
    },
  },
  {
    path: 'whatsapp-accounts/connect',
    lazy: { Component: async () => (await import('./pages/whatsapp-accounts/connect-page.tsx')).ConnectPage },
  },
  {
    path: 'whatsapp-accounts/:whatsAppAccountId',
    lazy: { Component: async () => (await import('./pages/whatsapp-accounts/set-up-page.tsx')).SetUpPage },
  },
  {
    path: 'templates',
    lazy: { Component: async () => (await import('./pages/templates/templates-page.tsx')).TemplatesPage },
  },
  {
    path: 'templates/new',
    lazy: { Component: async () => (await import('./pages/templates/editor/gallery-page.tsx')).GalleryPage },
  },
  {
    path: 'templates/edit',
    lazy: { Component: async () => (await import('./pages/templates/editor/editor-page.tsx')).EditorPage },
  },
  {
    path: 'messages',
    lazy: { Component: async () => (await import('./pages/messages/messages-page.tsx')).MessagesPage },
  },
  {
    path: 'messages/:messageId',
    lazy: { Component: async () => (await import('./pages/messages/message-page.tsx')).MessagePage },
  },
  {
    path: 'requests',
    lazy: { Component: async () => (await import('./pages/requests/requests-page.tsx')).RequestsPage },
  },
  {
    path: 'suppressions',
    lazy: { Component: async () => (await import('./pages/suppressions/suppressions-page.tsx')).SuppressionsPage },
  },
  {
    path: 'webhooks',
    lazy: { Component: async () => (await import('./pages/webhooks/webhooks-page.tsx')).WebhooksPage },
  },
  {
    path: 'webhooks/:endpointId',
    lazy: { Component: async () => (await import('./pages/webhooks/webhook-page.tsx')).WebhookPage },
  },
  {
    path: 'alerts',
    lazy: { Component: async () => (await import('./pages/alerts/alerts-page.tsx')).AlertsPage },
  },
  {
    path: 'people',
    lazy: { Component: async () => (await import('./pages/people/people-page.tsx')).PeoplePage },
  },
  {
    path: 'audit-log',
    lazy: { Component: async () => (await import('./pages/audit-log-page.tsx')).AuditLogPage },
  },
  { path: '*', Component: NotFoundPage },
]

export const routes: RouteObject[] = [
  {
    ErrorBoundary: RouteError,
    HydrateFallback: WholePageSkeleton,
    children: [
      {
        path: 'sign-in',
        lazy: { Component: async () => (await import('./pages/sign-in/sign-in-page.tsx')).SignInPage },
      },
      {
        path: 'forgot-password',
        lazy: {
          Component: async () => (await import('./pages/sign-in/forgot-password-page.tsx')).ForgotPasswordPage,
        },
      },
      {
        path: 'reset-password/:token',
        lazy: { Component: async () => (await import('./pages/sign-in/reset-password-page.tsx')).ResetPasswordPage },
      },
      {
        path: 'invitation/:token',
        lazy: { Component: async () => (await import('./pages/invitation-page.tsx')).InvitationPage },
      },
      {
        Component: SignedInLayout,
        children: [
          { index: true, Component: FirstAccountPage },
          {
            path: 'profile',
            lazy: { Component: async () => (await import('./pages/profile/profile-page.tsx')).ProfilePage },
          },
          {
            path: 'console',
            lazy: { Component: async () => (await import('./pages/console/console-page.tsx')).ConsolePage },
          },
          {
            path: ':accountId',
            Component: AccountLayout,
            children: [
              { index: true, Component: FirstAccountPage },
              { ErrorBoundary: RouteError, children: accountPages },
            ],
          },
          { path: '*', Component: NotFoundPage },
        ],
      },
    ],
  },
]
