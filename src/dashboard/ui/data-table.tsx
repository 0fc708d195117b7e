import { Table, type TableProps, type TableTdProps, type TableThProps } from '@mantine/core'
import type { ReactNode } from 'react'

/** Digits of one width, so that numbers below each other align. */
export const tabular = { fontVariantNumeric: 'tabular-nums' } as const

interface Column<Item> extends Pick<TableThProps, 'w' | 'ta' | 'aria-label'> {
  title?: ReactNode
  cell: (item: Item) => ReactNode
  /** Further properties of the cell of an item. */
  td?: (item: Item) => TableTdProps
}

interface DataTableProps<Item> extends Omit<TableProps, 'data'> {
  items: readonly Item[]
  keyOf: (item: Item) => string
  /** Without those that are false. */
  columns: (Column<Item> | false)[]
}

/** A table with one row for each item. */
export function DataTable<Item>({ items, keyOf, columns, ...table }: DataTableProps<Item>) {
  const shown = columns.filter((column) => column !== false)
  return (
    <Table fz="sm" {...table}>
      <Table.Thead>
        <Table.Tr>
          {shown.map(({ title, cell: _cell, td: _td, ...th }, index) => (
            <Table.Th key={index} {...th}>
              {title}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {items.map((item) => (
          <Table.Tr key={keyOf(item)}>
            {shown.map(({ cell, td, ta }, index) => (
              <Table.Td key={index} {...(ta !== undefined && { ta })} {...td?.(item)}>
                {cell(item)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** A table that scrolls sideways where it does not fit. */
export function ScrollingTable<Item>({ minWidth, ...table }: DataTableProps<Item> & { minWidth: number }) {
  return (
    <Table.ScrollContainer type="native" minWidth={minWidth} tabIndex={0}>
      <DataTable verticalSpacing="xs" {...table} />
    </Table.ScrollContainer>
  )
}
