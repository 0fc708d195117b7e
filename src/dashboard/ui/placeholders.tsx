import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Box, Button, Center, Skeleton, Stack, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { IconAlertCircle } from '@tabler/icons-react'
import { type ComponentType, type ReactNode, useState } from 'react'
import { readFailure } from '../api/failure.ts'

export function LoadingSkeleton({ lines = 4 }: { lines?: number }) {
  return (
    <Box role="status">
      <VisuallyHidden>{t`Loading`}</VisuallyHidden>
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={16} mb="sm" width={line === lines - 1 ? '60%' : '100%'} />
      ))}
    </Box>
  )
}

interface ErrorAlertProps {
  /** An error or its message. */
  error: unknown
  /** By default, states whether the server responded. */
  title?: string
  /** The button shows its progress if this returns a promise. */
  onRetry?: () => unknown
}

export function ErrorAlert({ error, title, onRetry }: ErrorAlertProps) {
  const failure = typeof error === 'string' ? undefined : readFailure(error)
  const isUnreachable = failure !== undefined && failure.code === undefined
  const [isRetrying, setIsRetrying] = useState(false)
  const retry = async () => {
    if (isRetrying) return
    setIsRetrying(true)
    try {
      await onRetry?.()
    } finally {
      setIsRetrying(false)
    }
  }
  return (
    <Alert
      color="red"
      icon={<IconAlertCircle />}
      title={title ?? (isUnreachable ? t`No connection to the server` : t`Something went wrong`)}
      role="alert"
    >
      <Stack gap="sm" align="flex-start">
        <Text size="sm">
          {isUnreachable && title === undefined
            ? t`Check your connection and try again.`
            : (failure?.message ?? String(error))}
        </Text>
        {onRetry && (
          <Button
            size="xs"
            variant="default"
            miw={120}
            // Not disabled, because a disabled button loses the focus.
            aria-disabled={isRetrying}
            onClick={() => void retry()}
          >
            {isRetrying ? t`Trying again…` : t`Try again`}
          </Button>
        )}
      </Stack>
    </Alert>
  )
}

interface EmptyStateProps {
  icon: ComponentType<{ size?: number }>
  title: string
  /** What will appear here, and how to get it. */
  children?: ReactNode
  action?: ReactNode
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <Center py="xl">
      <Stack align="center" gap="xs" maw={420} ta="center">
        <ThemeIcon variant="light" color="gray" size={48} radius="xl" aria-hidden>
          <Icon size={24} />
        </ThemeIcon>
        <Text fw={600}>{title}</Text>
        {children !== undefined && (
          <Text component="div" c="dimmed" size="sm">
            {children}
          </Text>
        )}
        {action !== undefined && <Box mt="sm">{action}</Box>}
      </Stack>
    </Center>
  )
}

interface LoadMoreProps {
  /** The result of `useInfiniteQuery`. */
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> }
}

/** A button that loads the next page of a list, hidden on the last page. */
export function LoadMore({ query }: LoadMoreProps) {
  if (!query.hasNextPage) return null
  return (
    <Center mt="md">
      <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        <Trans>Load more</Trans>
      </Button>
    </Center>
  )
}
