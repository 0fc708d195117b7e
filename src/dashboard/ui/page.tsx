import { Box, Group, Paper, Text, Title } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { type ReactNode, useEffect, useId, useRef } from 'react'
import { type To, useLocation } from 'react-router'
import { TextLink } from './button.tsx'

interface PageHeaderProps {
  title: string
  /** The status of what the page shows, beside its title. */
  badge?: ReactNode
  description?: ReactNode
  actions?: ReactNode
}

/** The h1 of a page. It also sets the browser tab title and takes the focus after navigation. */
export function PageHeader({ title, badge, description, actions }: PageHeaderProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const { pathname, key } = useLocation()
  // For a page that is opened by its URL, the browser sets the focus.
  const openedAt = useRef(key === 'default' ? pathname : undefined)
  useEffect(() => {
    if (openedAt.current === pathname) return
    openedAt.current = undefined
    heading.current?.focus({ preventScroll: true })
  }, [pathname])
  return (
    <Group justify="space-between" align="flex-start" gap="md" mb="lg">
      <title>{`${title} · Waybill`}</title>
      <Box flex={1} miw={240}>
        <Group gap="sm">
          <Title order={1} ref={heading} tabIndex={-1} style={{ overflowWrap: 'anywhere' }}>
            {title}
          </Title>
          {badge}
        </Group>
        {description !== undefined && (
          <Text c="dimmed" size="sm" mt={2} maw="var(--waybill-prose)" style={{ textWrap: 'balance' }}>
            {description}
          </Text>
        )}
      </Box>
      {actions !== undefined && <Group gap="sm">{actions}</Group>}
    </Group>
  )
}

/** The way to the page above, over the title of one of its items. */
export function BackLink({ to, children }: { to: To; children: ReactNode }) {
  return (
    <TextLink to={to} size="sm" underline="hover" display="inline-flex" mb="xs">
      <IconArrowLeft size={16} style={{ marginInlineEnd: 4, marginBlock: 'auto' }} aria-hidden />
      {children}
    </TextLink>
  )
}

interface SectionProps {
  /** Makes the section a link target, with `useHashTarget`. */
  id?: string
  title: string
  description?: ReactNode
  actions?: ReactNode
  children?: ReactNode
}

/** A card with a heading and its actions. */
export function Section({ id: target, title, description, actions, children }: SectionProps) {
  const id = useId()
  return (
    <Paper
      component="section"
      id={target}
      {...(target !== undefined && { tabIndex: -1 })}
      aria-labelledby={id}
      withBorder
      p={{ base: 'md', sm: 'lg' }}
      mb="lg"
    >
      <Group
        justify="space-between"
        align="flex-start"
        gap="md"
        mb={children === undefined || children === false ? 0 : 'md'}
      >
        <Box flex={1} miw={220}>
          <Title order={2} id={id}>
            {title}
          </Title>
          {description !== undefined && (
            <Text c="dimmed" size="sm" mt={2} maw="var(--waybill-prose)" style={{ textWrap: 'balance' }}>
              {description}
            </Text>
          )}
        </Box>
        {actions !== undefined && <Group gap="sm">{actions}</Group>}
      </Group>
      {children}
    </Paper>
  )
}

/** Scroll margin, because the header covers the top of the page. */
const belowHeader = '104px'

/** Scrolls to the element named by the URL's hash and focuses it, once it is rendered. */
export function useHashTarget(isShown: boolean): void {
  const { hash, key } = useLocation()
  useEffect(() => {
    const target = isShown && hash !== '' ? document.getElementById(hash.slice(1)) : null
    if (!target) return
    target.style.scrollMarginTop = belowHeader
    target.scrollIntoView({ block: 'start' })
    target.focus({ preventScroll: true })
  }, [hash, key, isShown])
}
