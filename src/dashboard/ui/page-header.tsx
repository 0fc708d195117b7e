import { Box, Group, Text, Title } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { useLocation } from 'react-router'

interface PageHeaderProps {
  title: string
  description?: ReactNode
  /** Buttons for what the page is about. */
  actions?: ReactNode
}

/** The h1 of a page. It names the browser's tab too, and takes the focus when a link led here. */
export function PageHeader({ title, description, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname, key } = useLocation()
  // The browser has placed the focus itself when the page was opened by its address.
  const openedAt = useRef(key === 'default' ? pathname : undefined)
  useEffect(() => {
    if (openedAt.current === pathname) return
    openedAt.current = undefined
    heading.current?.focus({ preventScroll: true })
  }, [pathname])
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="xl">
      <title>{`${title} · Waybill`}</title>
      <Box flex={1} miw={240}>
        <Title order={1} ref={heading} tabIndex={-1}>
          {title}
        </Title>
        {description !== undefined && (
          <Text c="dimmed" mt={4} maw={680}>
            {description}
          </Text>
        )}
      </Box>
      {actions !== undefined && <Group gap="sm">{actions}</Group>}
    </Group>
  )
}
