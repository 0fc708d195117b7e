import { Title } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'

/** Takes the focus when its step begins: the button that led here is gone. */
export function StepTitle({ children }: { children: ReactNode }) {
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <Title order={3} ref={title} tabIndex={-1} style={{ outline: 'none' }}>
      {children}
    </Title>
  )
}
