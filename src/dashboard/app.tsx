import '@fontsource-variable/inter/wght.css'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import '@mantine/core/styles.css'
import { Notifications } from '@mantine/notifications'
import '@mantine/notifications/styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createBrowserRouter } from 'react-router'
import { RouterProvider } from 'react-router/dom'
import { createQueryClient } from './api/query-client.ts'
import { routes } from './routes.tsx'
import { signInPath } from './session/sign-in.ts'
import { colourSchemeKey } from './theme/colour-scheme.ts'
import './theme/page.css'
import { cssVariablesResolver, theme } from './theme/theme.ts'

const basename = '/settings'

export function renderApp(root: HTMLElement): void {
  const router = createBrowserRouter(routes, { basename })
  const onSignInRequired = () => {
    const { pathname, search } = router.state.location
    const here = pathname.slice(basename.length) || '/'
    if (!here.startsWith('/sign-in')) void router.navigate(signInPath(here + search), { replace: true })
  }
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariablesResolver}
        colorSchemeManager={localStorageColorSchemeManager({ key: colourSchemeKey })}
        defaultColorScheme="auto"
      >
        <QueryClientProvider client={createQueryClient({ onSignInRequired })}>
          <Notifications position="bottom-right" />
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
