#!/usr/bin/env python3
"""Writes sky.txt: headers, and what astropy (8.0, which has wcslib) makes of pixels: RA and Dec in degrees.

Run it in this folder with astropy and numpy.  A case is `case NAME`, its cards, `end`, and then lines `x y ra dec`, pixels
counted from 0.  A header that is refused has `refused WORD` in place of the lines: the reason has that word.
"""
import warnings

import numpy as np
from astropy.io import fits
from astropy.wcs import WCS

warnings.simplefilter('ignore')
out = []
PLACES = [(0, 0), (1023, 0), (0, 511), (1023, 511), (511.5, 255.25), (700.125, 20.5), (-40, 600)]


def case(name, refused=None, places=PLACES, **cards):
    header = fits.Header([('SIMPLE', True), ('BITPIX', -32), ('NAXIS', 2), ('NAXIS1', 1024), ('NAXIS2', 512)])
    for key, value in cards.items():
        header[key] = value
    out.append(f'case {name}')
    out.extend(card.rstrip() for card in header.tostring(sep='\n').split('\n') if card.strip() and not card.startswith('END'))
    out.append('end')
    if refused:
        out.append(f'refused {refused}')
        return
    sky = WCS(header)
    if sky.naxis > 2:
        sky = sky.celestial
    for x, y in places:
        ra, dec = (float(v) for v in sky.all_pix2world(x, y, 0))
        if sky.wcs.lng == 1:
            ra, dec = dec, ra
        out.append(f'{x!r} {y!r} {ra!r} {dec!r}' if np.isfinite(ra) else f'{x!r} {y!r} nan nan')


def tan(**more):
    return {'CTYPE1': 'RA---TAN', 'CTYPE2': 'DEC--TAN', 'CRPIX1': 512.5, 'CRPIX2': 256.25, 'CRVAL1': 10.684708, 'CRVAL2': 41.26875,
            **more}


def cd(size=0.000277, angle=0.3, flip=-1):
    return {'CD1_1': flip * size * np.cos(angle), 'CD1_2': size * np.sin(angle), 'CD2_1': size * 1.01 * np.sin(angle),
            'CD2_2': size * 1.01 * np.cos(angle)}


def named(projection, **more):
    return tan(**{'CTYPE1': f'RA---{projection}', 'CTYPE2': f'DEC--{projection}', **cd(0.02), **more})


case('cd', **tan(**cd()))
case('cd_of_one_entry', **tan(CD1_1=-0.0003, CD2_2=0.0003))
case('cdelt', **tan(CDELT1=-0.0003, CDELT2=0.0003, CUNIT1='deg', CUNIT2='deg'))
case('arcseconds', **tan(CDELT1=-1.2, CDELT2=1.2, CUNIT1='arcsec', CUNIT2='arcsec', CRVAL1=38464.9488, CRVAL2=148567.5))
case('pc', **tan(CDELT1=-0.0003, CDELT2=0.0004, PC1_1=0.8, PC1_2=-0.6, PC2_1=0.6, PC2_2=0.8))
case('crota', **tan(CDELT1=-0.0003, CDELT2=0.0004, CROTA2=33.0))
case('no_steps', **tan())
case('dec_first', **{**tan(**cd()), 'CTYPE1': 'DEC--TAN', 'CTYPE2': 'RA---TAN', 'CRVAL1': 41.26875, 'CRVAL2': 10.684708})
case('near_zero', **tan(CRVAL1=0.0, CRVAL2=-0.01, **cd()))
case('past_zero', **tan(CRVAL1=359.99, CRVAL2=-60.0, **cd()))
case('minus', **tan(CRVAL1=-20.0, CRVAL2=5.0, **cd()))
case('pole', **tan(CRVAL1=120.0, CRVAL2=90.0, **cd(0.01)))
case('south_pole', **tan(CRVAL1=120.0, CRVAL2=-90.0, **cd(0.01)))
case('beside_pole', **tan(CRVAL1=200.0, CRVAL2=89.9, **cd(0.001)))
case('lonpole', **tan(LONPOLE=150.0, **cd()))
case('pv_pole', **tan(PV1_3=150.0, **cd()))
case('wide', **tan(**cd(0.05)))
for projection in ('SIN', 'ARC', 'STG', 'ZEA'):
    case(projection.lower(), **named(projection))
    case(projection.lower() + '_wide', **named(projection, **cd(0.2)))
case('sine_of_nothing', **named('SIN', **cd(0.3)), places=[(0, 0), (512, 255), (1023, 511)])
SIP = {'CTYPE1': 'RA---TAN-SIP', 'CTYPE2': 'DEC--TAN-SIP', 'A_ORDER': 3, 'B_ORDER': 4, 'A_2_0': 2.1e-6, 'A_1_1': -3.2e-6, 'A_0_2': 1.3e-6,
       'A_3_0': 1.1e-9, 'A_1_2': -2e-9, 'B_2_0': -4e-6, 'B_0_2': 2.2e-6, 'B_1_1': 1.5e-6, 'B_0_3': -3e-9, 'B_2_2': 1.7e-12,
       'AP_ORDER': 2, 'BP_ORDER': 2, 'AP_1_0': 1e-5}
case('sip', **{**tan(**cd()), **SIP})
case('sip_unsaid', **{**tan(**cd()), **SIP, 'CTYPE1': 'RA---TAN', 'CTYPE2': 'DEC--TAN'})
case('cube', **tan(**cd(), CTYPE3='FREQ', CRVAL3=1.4e9, CRPIX3=1, CD3_3=1e6, WCSAXES=3))

case('nothing', 'CTYPE1')
case('galactic', 'CTYPE1', **tan(CTYPE1='GLON-TAN', CTYPE2='GLAT-TAN'))
case('plate_carree', 'CAR', **named('CAR'))
case('tpv', 'TPV', **named('TPV'))
case('scamp', 'PV', **tan(PV1_1=1.01, **cd()))
case('table', 'table', **tan(CPDIS1='LOOKUP', **cd()))
case('line', 'line', **tan(CD1_1=1e-4, CD1_2=2e-4, CD2_1=1e-4, CD2_2=2e-4))
case('mixed', 'third', **tan(**cd(), CD1_3=1e-3))
case('metres', 'CUNIT', **tan(**cd(), CUNIT1='m', CUNIT2='m'))
case('one_axis', 'CTYPE1', CTYPE1='RA---TAN', CTYPE2='FREQ')
case('mixed_types', 'TAN', **tan(CTYPE2='DEC--SIN'))
with open('sky.txt', 'w') as f:
    f.write('\n'.join(out) + '\n')
