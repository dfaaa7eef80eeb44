/** An instant of the API as this machine's reader writes it: `2026-11-30 14:02`. */
export function when(instant: string): string {
  const at = new Date(instant);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** The same to the second, of what is due soon. */
export function toSecond(instant: string): string {
  return `${when(instant)}:${String(new Date(instant).getSeconds()).padStart(2, '0')}`;
}
