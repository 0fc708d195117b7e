import { t } from '@lingui/core/macro'
import { Box, Group, Paper, Skeleton, Stack, VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './skeletons.module.css'

/** Skeletons with the layout of the content, so that nothing moves when it is loaded. */

function Loading({ children }: { children: ReactNode }) {
  return (
    <Box role="status">
      <VisuallyHidden>{t`Loading`}</VisuallyHidden>
      {children}
    </Box>
  )
}

const widths = ['62%', '48%', '70%', '55%', '40%', '66%']

/** The width of a text placeholder, which varies by row. */
function widthAt(row: number, column: number): string {
  return widths[(row * 2 + column * 3) % widths.length] ?? '60%'
}

interface TableSkeletonProps {
  rows?: number
  columns?: number
}

/** The skeleton of a log, which is a list on a small screen. */
export function TableSkeleton({ rows = 12, columns = 5 }: TableSkeletonProps) {
  return (
    <Loading>
      <Paper withBorder className={styles['table'] ?? ''}>
        <TableSkeletonRows rows={rows} columns={columns} />
      </Paper>
    </Loading>
  )
}

/** The rows of a table within a card. */
function TableSkeletonRows({ rows, columns }: Required<TableSkeletonProps>) {
  return Array.from({ length: rows + 1 }, (_, row) => (
    <div key={row} className={styles['row']} data-head={row === 0 || undefined}>
      {Array.from({ length: columns }, (_, column) => (
        <div key={column} className={styles['cell']}>
          <Skeleton height={10} width={row === 0 ? '35%' : widthAt(row, column)} radius="xs" />
        </div>
      ))}
    </div>
  ))
}

/** A column of cards, for the sections of a page or the items of a list. */
export function CardsSkeleton({ cards = 3, lines = 2 }: { cards?: number; lines?: number }) {
  return (
    <Loading>
      {Array.from({ length: cards }, (_, card) => (
        <Paper key={card} withBorder p={{ base: 'md', sm: 'lg' }} mb="md">
          <Skeleton height={16} width={`${26 + (card % 3) * 6}%`} radius="xs" mb="md" />
          {Array.from({ length: lines }, (_, line) => (
            <Skeleton key={line} height={10} width={widthAt(card, line)} radius="xs" mt="xs" />
          ))}
        </Paper>
      ))}
    </Loading>
  )
}

/** The items of a list within a card: a title, a line below it, and a button. */
export function ItemsSkeleton({ items = 3 }: { items?: number }) {
  return (
    <Loading>
      <Stack gap={0}>
        {Array.from({ length: items }, (_, item) => (
          <Group key={item} justify="space-between" wrap="nowrap" className={styles['item'] ?? ''}>
            <Box flex={1}>
              <Skeleton height={12} width={`${30 + (item % 3) * 8}%`} radius="xs" />
              <Skeleton height={10} width={`${44 - (item % 2) * 8}%`} radius="xs" mt={8} />
            </Box>
            <Skeleton height={30} width={84} />
          </Group>
        ))}
      </Stack>
    </Loading>
  )
}

/** The skeleton of a description list. */
export function DetailsSkeleton({ items }: { items: number }) {
  return (
    <Loading>
      {Array.from({ length: items }, (_, item) => (
        <Group key={item} gap="md" mb="sm" wrap="nowrap">
          <Skeleton height={10} width={80} radius="xs" />
          <Skeleton height={10} width={widthAt(item, 1)} maw={280} radius="xs" />
        </Group>
      ))}
    </Loading>
  )
}
