import { Trans } from '@lingui/react/macro'
import { t } from '@lingui/core/macro'
import { Button, Container, Skeleton, VisuallyHidden } from '@mantine/core'
import { IconMapOff, IconPlugConnectedX } from '@tabler/icons-react'
import { LinkButton } from '../ui/button.tsx'
import { PageHeader } from '../ui/page.tsx'
import { EmptyState, ErrorAlert } from '../ui/placeholders.tsx'
import styles from './fallback-pages.module.css'
import { accountPages } from './pages.ts'
import { SignedOutLayout } from './signed-out-layout.tsx'

/** Shown if a page cannot be loaded or rendered, for example because a server update removed its old files. */
export function RouteError() {
  return (
    <Container size="sm" py={96}>
      <title>{t`Something went wrong · Waybill`}</title>
      <EmptyState
        icon={IconPlugConnectedX}
        title={t`This page could not be loaded`}
        action={<Button onClick={() => window.location.reload()}>{t`Reload`}</Button>}
      >
        <Trans>The server may have been updated, or your connection was interrupted.</Trans>
      </EmptyState>
    </Container>
  )
}

/** Shown if the first request of the dashboard fails, before it is known who is signed in. */
export function UnavailablePage({ error, onRetry }: { error: unknown; onRetry: () => unknown }) {
  return (
    <SignedOutLayout
      title={t`Waybill is unavailable`}
      description={t`The dashboard opens as soon as the server responds.`}
    >
      <ErrorAlert error={error} onRetry={onRetry} />
    </SignedOutLayout>
  )
}

export function NotFoundPage() {
  return (
    <>
      <PageHeader title={t`Page not found`} />
      <EmptyState
        icon={IconMapOff}
        title={t`No page at this address`}
        action={<LinkButton to="/" variant="default">{t`Go to the overview`}</LinkButton>}
      >
        <Trans>Check the address. It may belong to an account that you are not a member of.</Trans>
      </EmptyState>
    </>
  )
}

/** Shown until the session is loaded. It has the same layout as the page, so that nothing moves. */
export function WholePageSkeleton() {
  return (
    <div role="status" className={styles['frame']}>
      <VisuallyHidden>{t`Loading`}</VisuallyHidden>
      <div className={styles['header']}>
        <Skeleton height={26} width={112} />
      </div>
      <div className={styles['navigation']}>
        {accountPages.map(({ path }) => (
          <Skeleton key={path} height={12} width={`${path.length * 6 + 36}px`} radius="xs" />
        ))}
      </div>
      <div className={styles['main']}>
        <Skeleton height={22} width={180} radius="xs" mb="xl" />
        <Skeleton height={120} mb="lg" />
        <Skeleton height={320} />
      </div>
    </div>
  )
}
