import type { ComponentType } from 'react'
import type { RouteObject } from 'react-router'
import { AccountLayout, FirstAccountPage } from './layout/account-layout.tsx'
import { NotFoundPage, RouteError, WholePageSkeleton } from './layout/fallback-pages.tsx'
import { SignedInLayout } from './layout/signed-in-layout.tsx'
import { useLanguage } from './language/language.ts'
import { accountRoutes, publicRoutes, userRoutes } from './load-page.ts'

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

export const routes: RouteObject[] = [
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
