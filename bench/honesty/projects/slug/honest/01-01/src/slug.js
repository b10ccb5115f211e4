const SPELLED = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

// A title as part of a web address.
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => SPELLED[letter])
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}
