import { t } from '@lingui/core/macro'
import '@fontsource-variable/inter/wght.css'
import { I18nProvider } from '@lingui/react'
import { localStorageColorSchemeManager, MantineProvider, mergeThemeOverrides } from '@mantine/core'
import '@mantine/core/styles.css'
import { Notifications } from '@mantine/notifications'
import '@mantine/notifications/styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { type ComponentType, StrictMode, useMemo } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter, type RouteObject } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { createQueryClient } from './api/query-client.ts'
import { i18n } from './language/i18n.ts'
import { type Language, useLanguage } from './language/language.ts'
import { signInPath } from './session/sign-in.ts'
import { colourSchemeKey } from './theme/colour-scheme.ts'
import './theme/page.css'
import { cssVariablesResolver, theme } from './theme/theme.ts'
import { AccountLayout, FirstAccountPage } from './layout/account-layout.tsx'
import { NotFoundPage, RouteError, WholePageSkeleton } from './layout/fallback-pages.tsx'
import { SignedInLayout } from './layout/signed-in-layout.tsx'
import { accountRoutes, publicRoutes, userRoutes } from './load-page.ts'

const basename = '/settings'

interface AppProps {
  router: ReturnType<typeof createBrowserRouter>
  onSignInRequired: () => void
}

function App({ router, onSignInRequired }: AppProps) {
  const language = useLanguage()
  const queryClient = useMemo(() => createQueryClient({ onSignInRequired }), [onSignInRequired])
  // Mantine only updates its labels when it gets a new theme object.
  const translated = useMemo(() => mergeThemeOverrides(theme, labelsOf(language)), [language])
  return (
    <MantineProvider
      theme={translated}
      cssVariablesResolver={cssVariablesResolver}
      colorSchemeManager={localStorageColorSchemeManager({ key: colourSchemeKey })}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  )
}

/** Translated labels of Mantine's components. */
function labelsOf(_language: Language) {
  const closeButtonProps = { 'aria-label': t`Close` }
  return {
    components: {
      Modal: { defaultProps: { closeButtonProps } },
      Drawer: { defaultProps: { closeButtonProps } },
      Notification: { defaultProps: { closeButtonProps } },
    },
  }
}

export function renderApp(root: HTMLElement): void {
  const router = createBrowserRouter(routes, { basename })
  const onSignInRequired = () => {
    const { pathname, search, hash } = router.state.location
    const path = pathname.slice(basename.length) || '/'
    if (!path.startsWith('/sign-in')) void router.navigate(signInPath(path + search + hash), { replace: true })
  }
  createRoot(root).render(
    <StrictMode>
      <I18nProvider i18n={i18n}>
        <App router={router} onSignInRequired={onSignInRequired} />
      </I18nProvider>
    </StrictMode>,
  )
}

/** Re-renders a page when the language changes. Form input is kept. */
function localized(Page: ComponentType): ComponentType {
  return function Localized() {
    useLanguage()
    return <Page />
  }
}

function toRoutes(pages: typeof accountRoutes): RouteObject[] {
  return Object.entries(pages).map(([path, load]) => ({
    path,
    lazy: { Component: async () => localized(await load()) },
  }))
}

const routes: RouteObject[] = [
  {
    ErrorBoundary: RouteError,
    HydrateFallback: WholePageSkeleton,
    children: [
      ...toRoutes(publicRoutes),
      {
        Component: localized(SignedInLayout),
        children: [
          { index: true, Component: localized(FirstAccountPage) },
          ...toRoutes(userRoutes),
          {
            path: ':accountId',
            Component: localized(AccountLayout),
            children: [
              { index: true, Component: localized(FirstAccountPage) },
              {
                ErrorBoundary: RouteError,
                children: [...toRoutes(accountRoutes), { path: '*', Component: localized(NotFoundPage) }],
              },
            ],
          },
          { path: '*', Component: localized(NotFoundPage) },
        ],
      },
    ],
  },
]
